@release@@labels@
